import { defineConfig } from "vitest/config";

/** What all charts of comparisons share: one file rather than ten small ones. */
const SHARED =
  /src\/charts\/(axes|built|chartFigure|comparisonChart|fit|pace|rowLabels|rows|selection|theme|words)\.ts$/;

// The entry has a fixed name: Django's manifest storage hashes it, and whitenoise compresses it.
// What it loads later has its hash from here, and imports nothing from the entry: under its two
// names a browser would run that twice (tests/browser/test_charts.py).
export default defineConfig({
  // Of htmx, which may not evaluate anyway; with it a bundle cannot be made small.
  define: { eval: "undefined" },
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: {
      input: "src/main.ts",
      output: {
        entryFileNames: "assets/main.js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/main[extname]",
        codeSplitting: {
          groups: [
            // By itself, because the upload page needs it and no charts.
            { name: "format", test: /src\/format\.ts$/, priority: 2 },
            { name: "charts", test: SHARED, priority: 1 },
          ],
        },
      },
    },
  },
  // A busy machine needs more than the usual 5 s to load what a first test imports.
  test: { include: ["src/**/*.test.ts"], testTimeout: 60_000 },
});
