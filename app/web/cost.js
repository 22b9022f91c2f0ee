// What a picture costs, from what the last ones cost; and from it the size of a first, coarse one.
// A renderer may take a millisecond or a minute a frame, and a slider must answer either way.

const WORTHWHILE_MS = 500; // what takes less is shown whole at once
const COARSE_MS = 200;
const LEAST_SIDE = 48;
const UNKNOWN_SHARE = 1 / 4; // of the side, before anything is known
const MAP_PER_IMAGE = 2; // what a map costs, as long as only the image is known

const perPixel = new Map(); // milliseconds, by `image` and renderer, or by `wrt` and renderer

const imageKey = ({ renderer }) => `image ${renderer.name}`;
const mapKey = ({ renderer, wrt }) => `${wrt} of ${renderer.name}`;

/** Remember what the picture of a choice took. */
export function learn(choice, isMap, milliseconds) {
  const key = isMap ? mapKey(choice) : imageKey(choice);
  perPixel.set(key, milliseconds / (choice.width * choice.height));
}

/** The same choice with fewer pixels, to be shown first; null where that is not worthwhile. */
export function coarse(choice) {
  const image = perPixel.get(imageKey(choice));
  const map = perPixel.get(mapKey(choice)) ?? MAP_PER_IMAGE * image;
  const expected = (image + map) * choice.width * choice.height; // NaN where nothing is known
  if (expected < WORTHWHILE_MS) return null;
  const wanted = Number.isNaN(expected) ? UNKNOWN_SHARE : Math.sqrt(COARSE_MS / expected);
  const share = Math.max(wanted, LEAST_SIDE / Math.min(choice.width, choice.height));
  if (share > 0.6) return null;
  const scaled = (side) => Math.max(1, Math.round(side * share));
  return { ...choice, width: scaled(choice.width), height: scaled(choice.height) };
}
