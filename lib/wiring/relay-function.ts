// The relay of a deployment: what it tells of itself, its chain, and what delivers behind it.
import { laneOfKeys } from '../adapters/dynamodb/stream.ts';
import { createObservers } from '../lambda/observers.ts';
import { createRelayFunction, type RelayFunction } from '../lambda/relay-handler.ts';
import type { Environment } from '../settings.ts';
import { openDelivery } from './delivery.ts';

/** Builds the function and starts it; the settings are read by each start. */
export function relayFunction(environment: Environment): RelayFunction {
  const observers = createObservers();
  return createRelayFunction(observers, async () => {
    const { dispatcher } = await openDelivery(environment, observers);
    return { dispatcher, laneOf: laneOfKeys };
  });
}
