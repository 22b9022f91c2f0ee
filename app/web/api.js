// The server, as this page sees it: addresses, answers, and problems in words.
// Addresses are relative to this file, so that a path prefix before the server changes nothing.

import { imageQuery, mapQuery, queryText } from "./choice.js";
import { pause } from "./pause.js";

export const ROOT = new URL("./", import.meta.url);
// These pass by themselves; everything else needs another question.
const PASSING = new Set(["not_ready", "queue_full"]);

/** An answer that is no result: an RFC 9457 document, or no answer at all (status 0). */
export class Problem extends Error {
  constructor({ status = 0, code = "", detail = "", title = "", field = "" }, retryAfter = 1) {
    super(detail || title || "The server answered with an error.");
    Object.assign(this, { name: "Problem", status, code, field, retryAfter });
  }

  get passing() {
    return PASSING.has(this.code);
  }
}

/** Every renderer, what did not load, and the limits. */
export async function catalogue(onWait, signal) {
  const response = await ask(new URL("v1/renderers", ROOT), onWait, signal);
  return response.json();
}

export function imageAddress(choice, format = "png") {
  return address(choice, `image.${format}`, imageQuery(choice));
}

export function mapAddress(choice, format = "png", style = [["colorbar", "true"]]) {
  return address(choice, `map.${format}`, [...mapQuery(choice), ...(format === "png" ? style : [])]);
}

function address(choice, resource, pairs) {
  const path = `v1/renderers/${encodeURIComponent(choice.renderer.name)}/${resource}`;
  return new URL(`${path}?${queryText(pairs)}`, ROOT);
}

/** What a saved result is called. */
export function fileName(choice, format, wrt = choice.wrt) {
  const entry = wrt.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return `${choice.renderer.name}_${entry || "image"}.${format}`;
}

/** The command that gets the same bytes. */
export function curlLine(choice) {
  const quoted = mapAddress(choice).href.replaceAll("'", "%27");
  return `curl -f -o ${fileName(choice, "png")} '${quoted}'`;
}

/** A picture and what its headers say of it: `{blob, facts, seconds}`. */
export async function picture(url, onWait, signal) {
  const response = await ask(url, onWait, signal);
  return {
    blob: await response.blob(),
    facts: facts(response.headers),
    milliseconds: milliseconds(response.headers.get("Server-Timing") ?? ""),
  };
}

/** The `X-Sensmap-*` headers by their lower-case name without the prefix. */
function facts(headers) {
  const mine = [...headers].filter(([name]) => name.startsWith("x-sensmap-"));
  return Object.fromEntries(mine.map(([name, text]) => [name.slice(10), decoded(text)]));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a bare percent sign
  }
}

function milliseconds(timing) {
  return [...timing.matchAll(/dur=([\d.]+)/g)].reduce((sum, [, part]) => sum + Number(part), 0);
}

/** A good answer. Waits for as long as the server says that it will be able to give one. */
async function ask(url, onWait, signal) {
  for (;;) {
    try {
      return await answer(url, signal);
    } catch (error) {
      if (!(error instanceof Problem && error.passing)) throw error;
      onWait?.(error);
      await pause(1000 * error.retryAfter, signal);
    }
  }
}

async function answer(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ code: "no_answer", detail: "The server does not answer." });
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const retryAfter = Number(response.headers.get("Retry-After")) || 1;
  throw new Problem({ title: response.statusText, ...said, status: response.status }, retryAfter);
}
