/**
 * Which addresses an HTTP task may reach: public ones, and hosts that the operator names.
 *
 * Holds: the address that was checked is the one that is connected to; a name that resolves to any other kind of address is
 *        refused whole, so that no answer of a name server leads inside.
 */
import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

export class AddressRefused extends Error {
  override name = "AddressRefused";
}

/** Private, loopback, link-local (and with it the clouds' metadata), multicast, reserved and translated ranges are not. */
export const isPublicAddress = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === "unicast";

/** `allowed`: hosts, or host:port, as LOCKSTEP_HTTP_ALLOW lists them. */
export const isAllowedHost = (url: URL, allowed: readonly string[]): boolean =>
  allowed.includes(url.hostname) || allowed.includes(`${url.hostname}:${url.port || portOf(url)}`);

/** Throws AddressRefused for an address in digits; a name is looked at when it is resolved. */
export function requirePublicHost(url: URL): void {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw refused(url.hostname, literal);
}

/** For http.request: resolves, and refuses what isn't public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const inside = addresses.find(({ address }) => !isPublicAddress(address));
    if (inside) return callback(refused(hostname, inside.address), "", 0);
    const [first] = addresses;
    if (options.all) (callback as unknown as (error: null, all: LookupAddress[]) => void)(null, addresses);
    else callback(null, first?.address ?? "", first?.family);
  });
};

const refused = (hostname: string, address: string): AddressRefused =>
  new AddressRefused(
    `${hostname} is ${address === hostname ? "" : `at ${address}, `}not a public address. List the host in LOCKSTEP_HTTP_ALLOW if tasks may reach it.`,
  );

const portOf = (url: URL): string => (url.protocol === "https:" ? "443" : "80");
