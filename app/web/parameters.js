// Declared parameters: their entries, their names, and their values as text and as numbers.
// A value is kept as a flat list of numbers in C order, whatever the parameter's shape.

/** Parameters with more entries than this get no sliders. */
export const MOST_SLIDERS = 16;
/** A picture has at most this many panels, one an entry. */
const MOST_PANELS = 64;

export function size(info) {
  return info.shape.reduce((product, length) => product * length, 1);
}

export function hasSliders(info) {
  return size(info) <= MOST_SLIDERS && info.default !== null;
}

export function defaults(info) {
  return [info.default].flat(Infinity);
}

/** The index of each entry, in C order: `[[]]` for a scalar. */
function indices(shape) {
  return shape.reduce(
    (found, length) =>
      found.flatMap((index) => Array.from({ length }, (_, i) => [...index, i])),
    [[]],
  );
}

/** How each entry is asked for, in C order: `light[2]`, or the bare name of a scalar. */
export function entryNames(name, info) {
  return indices(info.shape).map((index) => (index.length ? `${name}[${index.join(",")}]` : name));
}

/** What a map can be taken with respect to, as `{name, choices: [{wrt, panels}]}` a parameter. */
export function wrtChoices(params) {
  return Object.entries(params).map(([name, info]) => {
    const panels = size(info);
    const choices = panels <= MOST_PANELS ? [{ wrt: name, panels }] : [];
    if (info.shape.length && panels <= MOST_SLIDERS) {
      choices.push(...entryNames(name, info).map((wrt) => ({ wrt, panels: 1 })));
    } else if (info.shape.length) {
      choices.push({ wrt: `${name}[${info.shape.map((n) => Math.floor(n / 2)).join(",")}]`, panels: 1 });
    }
    return { name, choices };
  });
}

/** The value as a query string has it: `0.7`, `1,0.4,0.1`, or nested lists. */
export function valueText(info, numbers) {
  if (info.shape.length === 0) return String(numbers[0]);
  if (info.shape.length === 1 && numbers.length > 1) return numbers.join(",");
  return JSON.stringify(nested(info.shape, numbers));
}

function nested([length, ...rest], numbers) {
  const step = numbers.length / length;
  return Array.from({ length }, (_, i) => {
    const part = numbers.slice(i * step, (i + 1) * step);
    return rest.length ? nested(rest, part) : part[0];
  });
}

/** The numbers in such a text, or null when it is no value of this parameter. */
export function valueNumbers(info, text) {
  const parts = text.replace(/[[\]\s]/g, "").split(",");
  const numbers = parts.map((part) => (part === "" ? NaN : Number(part)));
  return numbers.length === size(info) && numbers.every(Number.isFinite) ? numbers : null;
}

/** The range of a slider; where a bound is not declared, one is found around the default. */
export function sliderRange(info, start) {
  const reach = 2 * Math.max(1, Math.abs(start));
  return { low: info.low ?? start - reach, high: info.high ?? start + reach };
}

/** The allowed range in words. */
export function boundsText({ low, high }) {
  if (low !== null && high !== null) return `${numberText(low)} to ${numberText(high)}`;
  if (low !== null) return `at least ${numberText(low)}`;
  return high !== null ? `at most ${numberText(high)}` : "any number";
}

/** A number to read: four digits, and a real minus sign. What is none is said to be. */
export function numberText(number) {
  if (!Number.isFinite(Number(number))) return "none";
  return String(Number(Number(number).toPrecision(4))).replaceAll("-", "\u2212");
}
