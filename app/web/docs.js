// Starts Swagger UI on the description of this server, wherever a proxy has put it.

const ROOT = new URL("./", import.meta.url);
const place = document.getElementById("swagger-ui");

async function description() {
  const response = await fetch(new URL("openapi.json", ROOT));
  if (!response.ok) throw new Error(`The description cannot be had: ${response.status}.`);
  const spec = await response.json();
  // Paths begin at the server's root, which is not the host's when a proxy adds a prefix.
  spec.servers ??= [{ url: ROOT.href.replace(/\/$/, "") }];
  return spec;
}

// The style sheet has a dark side, but switches it by a class instead of by the reader's wish.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

try {
  globalThis.SwaggerUIBundle({
    spec: await description(),
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 1,
    defaultModelExpandDepth: 3,
    displayRequestDuration: true,
    validatorUrl: null, // never send the description to another host
  });
} catch (error) {
  place.textContent = error.message;
}
