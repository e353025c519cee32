/** Delays, so that input and painting come first. */

/** Maximum delay of work in a busy browser, in milliseconds. */
const BUSY_MS = 1000;

/** The next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** Resolves when the browser is idle. */
export function idle(): Promise<void> {
  // Not all browsers support this.
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
