// The reader's own theme, in force before the first paint: a script of its own that the page waits for.
// "dark" or "light"; without a choice, the link's own condition asks the system.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch {
    // A browser that stores nothing has the system's theme.
  }
  const link = document.getElementById("dark-colours");
  if (theme === "dark") link.media = "screen";
  if (theme === "light") link.media = "not all";
})();
