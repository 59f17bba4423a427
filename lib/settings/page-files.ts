// The files of the interactive page, and where a checkout has them.

/** The OpenAPI document, from the top of the project. */
export const DOCUMENT = 'docs/openapi.json';

/** Files of the page by their names, from the top of the project. */
export const PAGE_FILES: { readonly [name: string]: string } = {
  'openapi.json': DOCUMENT,
  'swagger-ui-bundle.js': 'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'node_modules/swagger-ui-dist/swagger-ui.css',
};

/** The folder that holds them where they were put beside a bundle. */
export const PAGES_FOLDER = 'pages';
