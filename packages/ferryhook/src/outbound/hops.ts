/**
 * Counts how often an event passed through Ferryhook, on this server or another, so that connections
 * which lead back to a source do not deliver the same event forever.
 */

/** The number of deliveries that led to the request. */
export const HOPS_HEADER = 'x-ferryhook-hops'

export const MAX_HOPS = 5

/** 0 for a request that is no delivery. The highest number counts if a proxy repeats the header. */
export function hopsOf(headers: Readonly<Record<string, string | readonly string[]>>): number {
  const received = headers[HOPS_HEADER]
  if (received === undefined) return 0
  const values = [received].flat().join(',').split(',')
  const counts = values.map((value) => (/^\s*\d{1,9}\s*$/.test(value) ? Number(value) : 0))
  return Math.max(...counts)
}
