// A choice: what is looked at. It stands in the address of the page (`#sphere?wrt=radius&radius=1`)
// in the words of the API's own query strings, so that one can be read as the other.

import { defaults, hasSliders, valueNumbers, valueText, wrtChoices } from "./parameters.js";

const SIDE = 384;
// Fields of a request. A parameter of such a name is asked for as `params.NAME`.
const FIELDS = new Set([
  "params", "wrt", "direction", "normalise", "second", "width", "height", "seed", "dtype", "strategy", "stride", "stream", "certify",
  "colormap_name", "rescale", "symmetric", "norm", "channel", "overlay", "colorbar", "format",
]);

/** A renderer as it comes: everything at its default, against its first parameter. */
export function firstChoice(renderer) {
  const values = Object.entries(renderer.params)
    .filter(([, info]) => hasSliders(info))
    .map(([name, info]) => [name, defaults(info)]);
  const [first] = wrtChoices(renderer.params).flatMap(({ choices }) => choices);
  return {
    renderer, wrt: first?.wrt ?? "", values: Object.fromEntries(values),
    width: SIDE, height: SIDE, seed: 0,
  };
}

/** The choice as pairs of a query string. What stands at its default is left out. */
export function imageQuery(choice) {
  const { renderer, values, width, height, seed } = choice;
  const pairs = [["width", width], ["height", height]];
  if (renderer.random && seed) pairs.push(["seed", seed]);
  for (const [name, numbers] of Object.entries(values)) {
    const info = renderer.params[name];
    if (!same(numbers, defaults(info))) {
      pairs.push([FIELDS.has(name) ? `params.${name}` : name, valueText(info, numbers)]);
    }
  }
  return pairs;
}

export function mapQuery(choice) {
  return [["wrt", choice.wrt], ...imageQuery(choice)];
}

/** Pairs as the text of a query, with the commas left legible. */
export function queryText(pairs) {
  return new URLSearchParams(pairs).toString().replaceAll("%2C", ",");
}

export function toHash(choice) {
  return `#${encodeURIComponent(choice.renderer.name)}?${queryText(mapQuery(choice))}`;
}

/** The choice that a hash stands for. What it does not say, or says wrongly, is as it comes. */
export function fromHash(hash, renderers) {
  const [name, query = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  const renderer = renderers.find((one) => encodeURIComponent(one.name) === name) ?? renderers[0];
  const choice = firstChoice(renderer);
  for (const [key, text] of new URLSearchParams(query)) {
    const param = FIELDS.has(key) ? "" : key.replace(/^params\./, "");
    if (key === "wrt") choice.wrt = text;
    else if (["width", "height", "seed"].includes(key)) choice[key] = whole(text, choice[key]);
    else if (Object.hasOwn(choice.values, param)) {
      choice.values[param] = valueNumbers(renderer.params[param], text) ?? choice.values[param];
    }
  }
  return choice;
}

/** A sentence on what cannot even be asked for, or an empty text. */
export function fault(choice) {
  for (const [name, numbers] of Object.entries(choice.values)) {
    if (!numbers.every(Number.isFinite)) return `The parameter “${name}” needs a number.`;
  }
  const wanting = ["width", "height", "seed"].find((field) => !Number.isInteger(choice[field]));
  return wanting ? `The ${wanting} needs a whole number.` : "";
}

function same(one, other) {
  return one.length === other.length && one.every((number, i) => number === other[i]);
}

function whole(text, otherwise) {
  return /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
}

function splitOnce(text, mark) {
  const place = text.indexOf(mark);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}
