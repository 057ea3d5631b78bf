/** Compares versions as PHP's version_compare does, because WordPress uses it. */

/**
 * The first prefix that matches a word decides; every other word ranks below all of them. `#` is a
 * number or the end of a version.
 */
const RANKS: [prefix: string, rank: number][] = [
  ['dev', 1],
  ['alpha', 2],
  ['a', 2],
  ['beta', 3],
  ['b', 3],
  ['RC', 4],
  ['rc', 4],
  ['#', 5],
  ['pl', 6],
  ['p', 6],
]

/** Negative if `left` is older. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)]
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = compareParts(a[at], b[at])
    if (order !== 0) return order
  }
  return 0
}

/** `1.2-beta3` is 1, 2, beta, 3. */
function partsOf(version: string): string[] {
  return version.match(/[0-9]+|[A-Za-z]+/g) ?? []
}

/** A missing part ranks as `#`, but below every number: 1.0 is older than 1.0.0. */
function compareParts(a: string | undefined, b: string | undefined): number {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b)
  if (a === undefined && isNumber(b)) return -1
  if (b === undefined && isNumber(a)) return 1
  return rankOf(a) - rankOf(b)
}

function rankOf(part: string | undefined): number {
  const word = part === undefined || isNumber(part) ? '#' : part
  return RANKS.find(([prefix]) => word.startsWith(prefix))?.[1] ?? 0
}

function isNumber(part: string | undefined): part is string {
  return part !== undefined && /^[0-9]/.test(part)
}
