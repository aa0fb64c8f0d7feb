// How the page is built: into the server's crate, with stable names, so that what is committed there changes only when the page does.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../crates/server/page",
    emptyOutDir: true,
    target: "es2022",
    // Readable lines, so that branches that change different parts of the page merge without conflicts in what is built.
    minify: false,
    cssMinify: false,
    sourcemap: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "page.js", chunkFileNames: "page-[name].js", assetFileNames: "page[extname]", codeSplitting: false },
    },
  },
});
