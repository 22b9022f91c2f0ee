"""What can be rendered, with which parameters."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from app.api import told
from app.api.dependencies import CatalogueNow, SettingsNow, SpecNow
from app.compute import Catalogue
from app.engine import STRATEGY_CHOICES
from app.imaging import FORMATS
from renderers import Param, Spec

router = APIRouter(prefix="/v1/renderers", tags=["renderers"])
# Defaults longer than this are left out of descriptions: a schema is read by people.
SHOWN_ENTRIES = 64


@router.get("")
async def list_renderers(catalogue: CatalogueNow, settings: SettingsNow) -> told.Catalogue:
    """Every renderer with its parameters, what did not load with the reason, and the limits."""
    return told.Catalogue(
        device=catalogue.device,
        renderers=[describe(spec, catalogue) for spec in catalogue.specs.values()],
        failures=dict(catalogue.failures),
        formats=sorted(FORMATS),
        limits=told.LimitsInfo(
            max_side=settings.max_side,
            max_pixels=settings.max_pixels,
            max_result_bytes=settings.max_result_bytes,
        ),
    )


@router.get("/{renderer}", responses={404: {"model": told.Problem}})
async def show_renderer(spec: SpecNow, catalogue: CatalogueNow) -> told.RendererInfo:
    """One renderer with its parameters."""
    return describe(spec, catalogue)


def describe(spec: Spec, catalogue: Catalogue) -> told.RendererInfo:
    """A declaration as the API shows it."""
    known = catalogue.verdicts.get(spec.name, {})
    return told.RendererInfo(
        name=spec.name,
        summary=spec.summary,
        doc=spec.doc,
        kind=spec.kind,
        channels=list(spec.channels),
        random=spec.random,
        params={
            name: describe_param(declared, known.get(name))
            for name, declared in spec.params.items()
        },
        strategies=list(STRATEGY_CHOICES),
    )


def describe_param(declared: Param, verdict: Mapping[str, Any] | None) -> told.ParamInfo:
    """A parameter as the API shows it."""
    shown = declared.describe()
    if declared.default.numel() > SHOWN_ENTRIES:
        shown["default"] = None
    found = verdict or {}
    return told.ParamInfo(
        **shown,
        strategy=found.get("strategy"),
        passed_over=found.get("passed_over", []),
        warnings=found.get("warnings", []),
    )
