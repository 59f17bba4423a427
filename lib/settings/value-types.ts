/**
 * Value types of settings: each takes the text of an environment variable to a typed value.
 * A message never repeats the text, because a value in the wrong variable may be a secret.
 */
import { isIP } from 'node:net';
import * as z from 'zod';

const hostNamePattern =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

const loopbackHostPattern = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** A whole number in decimal digits from `least` to `most`, both included. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().int().min(least).max(most));
}

/** A path of a folder, taken as written; nothing is looked up. */
export const folder = z
  .string()
  .max(4096)
  .refine((text) => text.trim() === text && !text.includes('\0'));

/** A host name or an IP address to listen on, without brackets or port. */
export const listenAddress = z
  .string()
  .refine((text) => isIP(text) !== 0 || hostNamePattern.test(text));

/** True for an absolute http or https URL that carries no credentials, query or fragment. */
export function isPlainHttpUrl(text: string): boolean {
  // URL drops tabs and newlines and repairs slashes, so the text is checked before it is parsed.
  if (!/^https?:\/\/[^\s\\?#]+$/i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.username === '' && url.password === '';
}

/** True for a plain URL that is https, or http to this very machine. */
export function isSecureUrl(text: string): boolean {
  if (!isPlainHttpUrl(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || isLoopback(url.hostname);
}

/** True for a host name or address of this very machine, as a URL has it. */
export function isLoopback(hostname: string): boolean {
  return loopbackHostPattern.test(hostname);
}

/** An absolute http or https URL, kept exactly as written because identifiers are compared as text. */
export const plainHttpUrl = z.string().max(2048).refine(isPlainHttpUrl);

/** Splits a comma list; the empty text is the empty list. */
function commaList(text: string): string[] {
  return text === '' ? [] : text.split(',').map((entry) => entry.trim());
}

function isOrigin(text: string): boolean {
  return isPlainHttpUrl(text) && /^https?:\/\/[^/]+$/i.test(text);
}

/** A comma list of browser origins, in the spelling browsers send (lower case, no default port). */
export const originList = z
  .string()
  .transform(commaList)
  .pipe(z.array(z.string().refine(isOrigin, 'is not an origin')).max(100))
  .transform((origins) => [...new Set(origins.map((origin) => new URL(origin).origin))]);

function isHostWithoutPort(text: string): boolean {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return bare === text ? isIP(text) === 4 || hostNamePattern.test(text) : isIP(bare) === 6;
}

/** A comma list of host names as a `Host` header carries them, without port; IPv6 in brackets. */
export const hostList = z
  .string()
  .transform(commaList)
  .pipe(z.array(z.string().refine(isHostWithoutPort, 'is not a host name')).max(100))
  .transform((hosts) => [...new Set(hosts.map((host) => host.toLowerCase()))]);

/** A name of a DynamoDB table, or its ARN. */
export const tableName = z.string().regex(/^[\w.:/-]{3,1024}$/);

/** A name of an S3 bucket. */
export const bucketName = z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/);

/** A name of a parameter, with its folders. */
export const parameterName = z
  .string()
  .regex(/^\/?[\w.-]+(?:\/[\w.-]+)*$/)
  .max(1011);

/** A name of a secret, or its ARN. */
export const secretName = z.string().regex(/^[\w/+=.@:-]{1,2048}$/);

/** The ARN of an SNS topic. */
export const topicArn = z.string().regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]{1,256}$/);

/** The ARN of a state machine. */
export const stateMachineArn = z
  .string()
  .regex(/^arn:[\w-]+:states:[\w-]+:\d{12}:stateMachine:[\w-]{1,80}$/);

/** The name of a function. */
export const functionName = z.string().regex(/^[\w-]{1,64}$/);

/** The name of an event bus, or its ARN. */
export const eventBusName = z
  .string()
  .regex(/^(?:arn:[\w-]+:events:[\w-]+:\d{12}:event-bus\/)?[\w./-]{1,256}$/);

/** The ARN of a certificate that CloudFront can use: it looks in one region only. */
export const frontCertificateArn = z
  .string()
  .regex(/^arn:[\w-]+:acm:us-east-1:\d{12}:certificate\/[\w-]{1,64}$/);

/** The ARN of a web ACL for CloudFront, which is one of no region. */
export const frontWebAclArn = z
  .string()
  .regex(/^arn:[\w-]+:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]{1,128}\/[\w-]{1,64}$/);
