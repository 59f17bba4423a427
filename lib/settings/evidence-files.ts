/** The bundled evidence server and its files beside the bundle of a function, by their names. */

/** The server's own bundle. */
export const EVIDENCE_SERVER = 'evidence-server.mjs';

/** The folder with `services.yaml` and `runbooks/`. */
export const EVIDENCE_FOLDER = 'evidence';
