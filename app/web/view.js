// The results: image and map side by side, problems in words, and the details of the map.
// One flight gets both pictures for one choice; `Latest` sees to it that flights do not cross.

import { Problem, imageAddress, mapAddress, picture } from "./api.js";
import { fault } from "./choice.js";
import { coarse, learn } from "./cost.js";
import { durationText, showDetails } from "./details.js";
import { element } from "./element.js";
import { Figure } from "./figure.js";
import { numberText } from "./parameters.js";
import { pause } from "./pause.js";

// The whole picture is asked for when the hand rests: the device would not soon be free again.
const REST_MS = 300;

export class View {
  #places;
  #image = new Figure("Image");
  #map = new Figure("Sensitivity");
  #shown = new Map(); // by figure, the address of the whole picture on show
  #again;
  #speech = 0;

  /** `again()` is called when one asks for another try. */
  constructor(places, again) {
    this.#places = places;
    this.#again = again;
    places.figures.replaceChildren(this.#image.node, this.#map.node);
    places.details.hidden = true;
  }

  /** Get and show both pictures of a choice; a coarse one first, where the whole takes long. */
  async fly({ choice }, flight) {
    const isNew = !this.#isShown(choice);
    this.#places.problems.classList.add("old"); // what they were about is no longer asked
    this.#places.details.classList.toggle("old", isNew);
    const wrong = fault(choice);
    if (wrong) {
      this.#fail(this.#image, []);
      this.#fail(this.#map, [new Problem({ code: "not_asked", detail: wrong })]);
      return;
    }
    const first = isNew ? coarse(choice) : null;
    if (first && (await this.#pictures(first, choice, flight)).length === 0) {
      flight.seen();
      await pause(REST_MS, flight.signal);
    }
    const problems = await this.#pictures(choice, choice, flight);
    flight.seen();
    this.#tell(problems);
    if (problems.length === 0) this.#speakSoon(choice);
  }

  #isShown(choice) {
    return this.#shown.get(this.#map) === mapAddress(choice).href;
  }

  /** Both pictures of a choice, in turn, where the whole is not on show; what went wrong comes back. */
  async #pictures(choice, whole, flight) {
    const isCoarse = choice !== whole;
    const style = isCoarse ? [] : undefined; // a bar beside a coarse map would be all letters
    const wanted = [[this.#image, imageAddress(choice), imageAddress(whole)]];
    if (choice.wrt) wanted.push([this.#map, mapAddress(choice, "png", style), mapAddress(whole)]);
    else this.#map.clear("This renderer has no parameters.");
    const problems = [];
    for (const [figure, url, wholeUrl] of wanted) {
      if (this.#shown.get(figure) === wholeUrl.href) {
        figure.busy(false);
        continue;
      }
      try {
        await this.#one(figure, choice, url, flight, isCoarse);
      } catch (error) {
        if (flight.signal.aborted || !(error instanceof Problem)) throw error;
        problems.push(error);
        if (!isCoarse) this.#fail(figure, problems);
      }
    }
    return problems;
  }

  async #one(figure, choice, url, flight, isCoarse) {
    figure.busy(true);
    const got = await picture(url, (problem) => this.#tell([problem]), flight.signal);
    const size = `${choice.width} × ${choice.height}`;
    const note = isCoarse ? `coarse, ${size}` : `${size}, ${durationText(got.milliseconds)}`;
    const isMap = figure === this.#map;
    learn(choice, isMap, got.milliseconds);
    const alt = isMap ? mapAlt(choice, got.facts) : imageAlt(choice);
    await figure.show({ blob: got.blob, alt, href: url.href, note, isCoarse }, flight.signal);
    this.#tell([]);
    if (isCoarse) {
      this.#shown.delete(figure);
      figure.busy(true); // the whole one follows
    } else {
      this.#shown.set(figure, url.href);
      if (isMap) showDetails(this.#places.details, choice, got);
    }
  }

  #fail(figure, problems) {
    this.#shown.delete(figure);
    figure.clear();
    if (figure === this.#map) this.#places.details.hidden = true;
    this.#tell(problems);
  }

  /** Say what is wrong, each thing once. */
  #tell(problems) {
    const texts = new Map(problems.map((problem) => [problem.message, problem]));
    const boxes = [...texts].map(([text, problem]) => problemBox(text, problem, this.#again));
    const { problems: place } = this.#places;
    place.classList.remove("old");
    if (boxes.length || place.childNodes.length) place.replaceChildren(...boxes);
  }

  /** Tell those who listen, once the hand rests. */
  #speakSoon(choice) {
    clearTimeout(this.#speech);
    this.#speech = setTimeout(() => {
      this.#places.status.textContent = `The map with respect to ${choice.wrt} is shown.`;
    }, 600);
  }
}

/** A problem as a box of words, with what can be done about it. */
export function problemBox(text, problem, again) {
  if (problem.passing) {
    return element("div", { className: "problem passing" },
      element("p", {}, text), element("p", { className: "note" }, "Trying again by itself."));
  }
  const button = element("button", { type: "button" }, "Try again");
  button.addEventListener("click", again);
  const kind = [problem.status || "", problem.code].filter(Boolean).join(" ");
  const canRetry = problem.status === 0 || problem.status >= 500;
  return element("div", { className: "problem" },
    element("p", {}, text),
    problem.code !== "not_asked" && element("p", { className: "note" }, kind),
    canRetry && problem.code !== "not_asked" && button);
}

function imageAlt({ renderer }) {
  return `The image of ${renderer.name}: ${renderer.summary}`;
}

function mapAlt({ renderer, wrt }, facts) {
  return `The sensitivity of ${renderer.name} to ${wrt}: from ${numberText(facts.min)} to `
    + `${numberText(facts.max)}, drawn in the colours ${facts.colormap ?? ""}`;
}
