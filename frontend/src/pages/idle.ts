/** Waiting for a better moment, so that what a reader does and sees comes first. */

/** The longest that work waits for a busy browser, in milliseconds. */
const BUSY_MS = 1000;

/** The next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** When the browser has nothing better to do. */
export function idle(): Promise<void> {
  // Not every browser says so.
  if (!("requestIdleCallback" in window)) return turn();
  return new Promise((done) => requestIdleCallback(() => done(), { timeout: BUSY_MS }));
}

export function isNear(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

/** True when the element comes into sight; false when the page has loaded and is idle before. */
export function whenNear(element: Element): Promise<boolean> {
  return new Promise((done) => {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) settle(true);
    });
    const settle = (near: boolean): void => {
      watch.disconnect();
      done(near);
    };
    watch.observe(element);
    void loaded()
      .then(idle)
      .then(() => settle(false));
  });
}

function loaded(): Promise<void> {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((done) => addEventListener("load", () => done(), { once: true }));
}
