/**
 * Formats of keys and tokens: `fb_live_{id}_{secret}_{checksum}`. Scanners find leaked keys by the
 * prefix, people name a key by its id, and the checksum rejects a damaged key without a read. Keys
 * are never part of a URL.
 */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomHex, randomToken } from '@strongroom/kit/ids'

const SECRET = '[A-Za-z0-9_-]{43}'

type KeyKind = 'live' | 'agency'

/** Keys have 256 random bits, so they need no slow hash. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function newKey(kind: KeyKind): string {
  return withChecksum(`fb_${kind}_${randomHex(4)}_${randomToken(32, randomBytes)}`)
}

export function isKey(kind: KeyKind, text: string): boolean {
  const pattern = new RegExp(`^fb_${kind}_[0-9a-f]{8}_${SECRET}_[0-9a-f]{8}$`)
  return pattern.test(text) && hasValidChecksum(text)
}

export function newTempKey(): string {
  return `fb_temp_${randomToken(32, randomBytes)}`
}

export function newWebhookSecret(): string {
  return `fb_whs_${randomToken(32, randomBytes)}`
}

/** Contains the id of the agency, so the token is found by its key. */
export function newJoinToken(agency_id: string): string {
  const name = agency_id.slice('agency_'.length)
  return withChecksum(`fb_join_${name}_${randomToken(32, randomBytes)}`)
}

export function parseJoinToken(
  text: string,
): { agency_id: string; token_hash: string } | undefined {
  const [, name] =
    new RegExp(`^fb_join_([A-Za-z0-9_-]{16})_${SECRET}_[0-9a-f]{8}$`).exec(text) ?? []
  if (name === undefined || !hasValidChecksum(text)) return undefined
  return { agency_id: `agency_${name}`, token_hash: sha256Hex(text) }
}

function withChecksum(text: string): string {
  return `${text}_${checksumOf(text)}`
}

function hasValidChecksum(text: string): boolean {
  const end = text.lastIndexOf('_')
  return checksumOf(text.slice(0, end)) === text.slice(end + 1)
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
