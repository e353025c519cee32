import { defineConfig } from "vitest/config";

// Fixed names, one chunk: Django's manifest storage hashes and whitenoise compresses them.
export default defineConfig({
  build: {
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    rollupOptions: {
      input: "src/main.ts",
      output: {
        entryFileNames: "assets/main.js",
        assetFileNames: "assets/main[extname]",
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
});
