// The start page: fetches the catalogue, and ties controls, address and view together.

import { catalogue, mapAddress, Problem } from "./api.js";
import { fromHash, toHash } from "./choice.js";
import { Controls, showFailures } from "./controls.js";
import { Latest } from "./latest.js";
import { problemBox, View } from "./view.js";

const HASH_REST_MS = 250; // browsers refuse an address that changes with every frame

const places = Object.fromEntries(
  ["controls", "chooser", "sliders", "problems", "figures", "details", "failures", "status"]
    .map((id) => [id, document.getElementById(id)]),
);

/** The catalogue; while the server starts, its words are shown. Asked again when one wishes. */
async function loaded() {
  const tell = (problem) => places.problems.replaceChildren(problemBox(problem.message, problem));
  for (;;) {
    try {
      const found = await catalogue(tell);
      places.problems.replaceChildren();
      return found;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      await new Promise((again) => {
        places.problems.replaceChildren(problemBox(error.message, error, again));
      });
    }
  }
}

function start(found) {
  let choice = fromHash(location.hash, found.renderers);
  let rest = 0;
  const ask = (now) => latest.ask({ key: mapAddress(choice).href, choice }, { now });
  const view = new View(places, () => ask(true));
  const latest = new Latest((item, flight) => view.fly(item, flight));

  const changed = (next, now) => {
    choice = next;
    clearTimeout(rest);
    rest = setTimeout(() => history.replaceState(null, "", toHash(choice)), HASH_REST_MS);
    document.title = `${choice.renderer.name} · sensmap`;
    ask(now);
  };
  const controls = new Controls(places, found, changed);
  const show = (next) => {
    controls.show(next);
    changed(next, true);
  };

  places.controls.addEventListener("submit", (event) => event.preventDefault());
  // Where the hand lets go of a slider is where it meant to be.
  places.controls.addEventListener("pointerup", () => ask(true));
  addEventListener("hashchange", () => show(fromHash(location.hash, found.renderers)));
  show(choice);
}

const found = await loaded();
showFailures(places.failures, found.failures);
if (found.renderers.length) start(found);
else places.problems.replaceChildren("No renderer has loaded.");
