// Which addresses a configured name may lead to. A name can be made to lead anywhere, so it is looked at
// at every connection, and the address that was looked at is the one that is connected to.
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Where a cloud keeps credentials of the machine: nothing that is configured leads there on purpose. */
const never = new BlockList();
never.addSubnet('169.254.0.0', 16);
never.addSubnet('fe80::', 10, 'ipv6');
never.addAddress('fd00:ec2::254', 'ipv6');
never.addAddress('100.100.100.200');
never.addSubnet('0.0.0.0', 8);
never.addAddress('::', 'ipv6');

/** Networks that are not the public one, and forms of IPv6 that hold an IPv4 address of any kind. */
const inside = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  inside.addSubnet(net, bits);
}
for (const [net, bits] of [
  ['::1', 128],
  ['64:ff9b::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['ff00::', 8],
] as const) {
  inside.addSubnet(net, bits, 'ipv6');
}

/** Whether an address may be connected to. */
export function isReachable(address: string, privateNetwork: boolean): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const kind = family === 6 ? 'ipv6' : 'ipv4';
  return !never.check(address, kind) && (privateNetwork || !inside.check(address, kind));
}

/** Thrown by the lookup for a name that leads where it must not. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** A lookup that answers only addresses that may be connected to; one that may not refuses the name. */
export function guardedLookup(
  privateNetwork: boolean,
  resolve: typeof systemLookup = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const refused = !found.every(({ address }) => isReachable(address, privateNetwork));
      const [first] = found;
      if (refused || first === undefined) callback(new AddressRefused('address refused'), []);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
