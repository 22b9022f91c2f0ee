"""Whether the server is alive, and whether it can compute."""

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from app.api.dependencies import SchedulerNow
from app.api.errors import problem

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process is alive; it answers while the device computes."""
    return {"status": "alive"}


@router.get("/readyz", response_model=None)
async def readyz(scheduler: SchedulerNow) -> Response:
    """A worker has its renderers on the device; 503 with the reason until then."""
    catalogue = scheduler.backend.catalogue
    if catalogue is None:
        return problem(503, "not_ready", scheduler.backend.trouble)
    return JSONResponse(
        {
            "status": "ready",
            "device": catalogue.device,
            "renderers": len(catalogue.specs),
            "failures": len(catalogue.failures),
            "waiting": scheduler.waiting,
        }
    )
