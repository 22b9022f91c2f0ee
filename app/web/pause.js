// Waiting that can be broken off.

/** Resolves after so many milliseconds; rejects at once when the signal aborts. */
export function pause(duration, signal) {
  return new Promise((resolve, reject) => {
    const broken = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", broken);
      resolve();
    }, duration);
    if (signal?.aborted) broken();
    else signal?.addEventListener("abort", broken, { once: true });
  });
}
