// What a ticket system gives back is somebody else's text: it is parsed, and bounded.
import * as z from 'zod';
import { DeliveryError } from '../../core/ports/sink.ts';

/** The longest answer that is read, in bytes. */
export const MOST_BYTES = 65_536;

/** A ticket as it was sent, without its tenant. */
export const heldTicket = z.object({
  key: z.string(),
  action_hash: z.string(),
  type: z.string(),
  target: z.string(),
  arguments: z.record(z.string(), z.json()),
});

/** Reads JSON of a shape; anything else is an answer that nothing can be known from. */
export function parsed<Shape extends z.ZodType>(shape: Shape, text: string): z.output<Shape> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DeliveryError('unknown', 'the answer is not JSON', { cause });
  }
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw new DeliveryError('unknown', 'the answer is not a ticket');
}
