// In which form this package runs: from its sources in a checkout, or compiled as an installed package.

/** Whether the package runs compiled. */
export const COMPILED = !import.meta.url.endsWith('.ts');

/** How a person runs the command line in this form. */
export const COMMAND = COMPILED ? 'npx checkpoint' : 'npm run -s checkpoint --';
