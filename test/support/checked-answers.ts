/**
 * Every REST answer that a test is given, held against the OpenAPI document: its status, its media type,
 * and each field. A field that the document does not have fails here, although clients are told to ignore
 * those they do not know.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../lib/docs/openapi/document.ts';

interface Media {
  readonly schema?: object;
}
interface Operation {
  readonly responses: { readonly [status: string]: { readonly content?: Record<string, Media> } };
}
type Paths = { readonly [path: string]: { readonly [method: string]: Operation } };

/** An answer that is not as the document says. */
export class UndocumentedAnswer extends Error {
  override readonly name = 'UndocumentedAnswer';
}

/** Statuses of a path or a method that the document does not have. */
const NOWHERE = [400, 401, 403, 404, 405, 429, 500, 503, 504];
const PROBLEM = 'application/problem+json';
const OURS = /^\/(?:v1(?:\/|$)|health\/?$|openapi\.json\/?$|docs\/?$)/;

let made: Checker | undefined;

/** Whether a path is one that the document is about. */
export const isRest = (path: string): boolean => OURS.test(path);

/** Throws `UndocumentedAnswer` where an answer is not as the document says. Reads a copy of the body. */
export async function checkAnswer(
  method: string,
  path: string,
  response: Response,
  document?: object,
): Promise<void> {
  const checker =
    document === undefined ? (made ??= checkerOf(openApiDocument())) : checkerOf(document);
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const text = method === 'HEAD' ? undefined : await response.clone().text();
  const fault = checker(method, path, response.status, type, text);
  if (fault !== undefined) {
    throw new UndocumentedAnswer(`${method} ${path} gave ${response.status} ${type}: ${fault}`);
  }
}

type Checker = (
  method: string,
  path: string,
  status: number,
  type: string,
  text: string | undefined,
) => string | undefined;

function checkerOf(document: object): Checker {
  const { paths, components } = document as {
    readonly paths: Paths;
    readonly components: { readonly schemas: Record<string, object> };
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'openapi', components: closed(components) });
  const compiled = new Map<object, ValidateFunction>();
  const validate = (schema: object): ValidateFunction => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"openapi#/components');
    const fresh = ajv.compile(JSON.parse(text) as object);
    compiled.set(schema, fresh);
    return fresh;
  };
  const templates = Object.keys(paths)
    // The more exact of two paths that fit comes first.
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`) }));
  const problem = components.schemas['Problem'] ?? {};

  return (method, path, status, type, text) => {
    const found = templates.find(({ pattern }) => pattern.test(path));
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = found === undefined ? undefined : paths[found.path]?.[name];
    if (operation === undefined) {
      // A preflight is not the document's.
      if (method === 'OPTIONS' && status === 204) return undefined;
      if (!NOWHERE.includes(status)) return 'no such path or method is documented';
      return text === undefined ? undefined : faultsIn(validate(problem), text);
    }
    const answer = operation.responses[String(status)];
    if (answer === undefined) return 'the status is not documented';
    const content = Object.entries(answer.content ?? {});
    if (text === undefined) return undefined;
    if (content.length === 0) return text === '' ? undefined : 'a body is not documented';
    const schema = answer.content?.[type]?.schema;
    if (schema === undefined) return 'the media type is not documented';
    if (status >= 400 && type !== PROBLEM) return 'an error is no problem';
    return type.endsWith('json') ? faultsIn(validate(schema), text) : undefined;
  };
}

function faultsIn(validate: ValidateFunction, text: string): string | undefined {
  if (validate(JSON.parse(text))) return undefined;
  return (validate.errors ?? [])
    .map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    )
    .join('; ');
}

/** A schema whose objects take no field that it does not name. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema as object;
  const inner: { readonly [keyword: string]: unknown } = Object.fromEntries(
    Object.entries(schema).map(([k, v]) => [k, closed(v)]),
  );
  const open = 'properties' in inner && !('additionalProperties' in inner);
  return open && inner['type'] === 'object' ? { ...inner, additionalProperties: false } : inner;
}
