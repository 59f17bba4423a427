// The tests of one file as one suite: for every mutant the modules are then loaded once and not
// once for each test file. The runner names the files.
const { testFiles } = globalThis as unknown as { readonly testFiles: readonly string[] };
for (const file of testFiles) await import(`../core/${file}.test.ts`);
