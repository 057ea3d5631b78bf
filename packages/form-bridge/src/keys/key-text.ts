/**
 * Keys and tokens as texts: `fb_live_{id}_{secret}_{checksum}`. The start is for scanners that look
 * for leaked keys, the id for people who talk about one, the checksum spares a read for what was cut
 * or made up. None ever stands in an address.
 */
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomHex, randomToken } from '@strongroom/kit/ids'

const SECRET = '[A-Za-z0-9_-]{43}'

type KeyKind = 'live' | 'agency'

/** All have 256 random bits, so a plain hash is as good as a slow one. */
export function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

export function newKey(kind: KeyKind): string {
  return withChecksum(`fb_${kind}_${randomHex(4)}_${randomToken(32, randomBytes)}`)
}

export function isKey(kind: KeyKind, text: string): boolean {
  return new RegExp(`^fb_${kind}_[0-9a-f]{8}_${SECRET}_[0-9a-f]{8}$`).test(text) && isWhole(text)
}

export function newTempKey(): string {
  return `fb_temp_${randomToken(32, randomBytes)}`
}

export function newWebhookSecret(): string {
  return `fb_whs_${randomToken(32, randomBytes)}`
}

/** Names its agency, so that it is found by key. */
export function newJoinToken(agency_id: string): string {
  const name = agency_id.slice('agency_'.length)
  return withChecksum(`fb_join_${name}_${randomToken(32, randomBytes)}`)
}

export function joinTokenIn(text: string): { agency_id: string; token_hash: string } | undefined {
  const [, name] =
    new RegExp(`^fb_join_([A-Za-z0-9_-]{16})_${SECRET}_[0-9a-f]{8}$`).exec(text) ?? []
  if (name === undefined || !isWhole(text)) return undefined
  return { agency_id: `agency_${name}`, token_hash: hashOf(text) }
}

function withChecksum(text: string): string {
  return `${text}_${checksumOf(text)}`
}

function isWhole(text: string): boolean {
  const end = text.lastIndexOf('_')
  return checksumOf(text.slice(0, end)) === text.slice(end + 1)
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
