/** The list of files that are generated from code. Nothing is written here. */
import { apiText, openApiText } from './openapi/texts.ts';
import { procedureSchemaText } from './procedure-schema.ts';
import { configurationText, envExampleText } from './settings-docs.ts';

/** A generated file: its path from the top of the repository, and its whole text. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** Every generated file with the text it must have. */
export function generatedFiles(): GeneratedFile[] {
  return [
    { path: '.env.example', text: envExampleText() },
    { path: 'docs/api.md', text: apiText() },
    { path: 'docs/configuration.md', text: configurationText() },
    { path: 'docs/openapi.json', text: openApiText() },
    { path: 'docs/procedure.schema.json', text: procedureSchemaText() },
  ];
}
