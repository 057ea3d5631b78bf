/**
 * The format of the master key file: one line of text, so that it survives editors, mail and paper.
 *
 *     strongroom-master-key:1:plain::{key}:{checksum}
 *     strongroom-master-key:1:scrypt:N=131072,r=8,p=1:{salt, IV, ciphertext, tag}:{checksum}
 *
 * Bytes are base64url. The checksum distinguishes damage from a wrong passphrase, and the final line feed
 * reveals a truncated file.
 */
import { createHash } from 'node:crypto'
import { MasterKeyError } from './errors.ts'
import { MASTER_KEY_BYTES, type MasterKey } from './key.ts'
import {
  isAffordable,
  type ScryptCost,
  unwrapByPassphrase,
  wrapByPassphrase,
  WRAPPED_BYTES,
} from './passphrase.ts'

const MAGIC = 'strongroom-master-key:'
const VERSION = '1'
const COST = /^N=(\d{1,9}),r=(\d{1,3}),p=(\d{1,2})$/

export function plainLine(masterKey: MasterKey): string {
  return withChecksum(`${MAGIC}${VERSION}:plain:`, Buffer.from(masterKey))
}

export async function passphraseLine(
  masterKey: MasterKey,
  passphrase: string,
  cost: ScryptCost,
): Promise<string> {
  const header = `${MAGIC}${VERSION}:scrypt:N=${cost.N},r=${cost.r},p=${cost.p}`
  return withChecksum(header, await wrapByPassphrase(masterKey, passphrase, cost, header))
}

/** `name` is the name of the file in messages. */
export async function readLine(
  text: string,
  name: string,
  passphrase: string | undefined,
): Promise<MasterKey> {
  const { kind, header, bytes } = parse(text, name)
  if (kind === 'plain') return Uint8Array.from(bytes)
  if (passphrase === undefined) {
    throw new MasterKeyError('PassphraseNeeded', `${name} is protected by a passphrase: provide it`)
  }
  const masterKey = await unwrapByPassphrase(bytes, passphrase, costOf(header, name), header)
  if (!masterKey)
    throw new MasterKeyError('WrongPassphrase', `This is not the passphrase of ${name}: try again`)
  return masterKey
}

interface Parsed {
  kind: 'plain' | 'scrypt'
  header: string
  bytes: Buffer
}

function parse(text: string, name: string): Parsed {
  if (!text.startsWith(MAGIC)) {
    if (MAGIC.startsWith(text)) throw truncated(name)
    throw new MasterKeyError(
      'MasterKeyForeign',
      `${name} is not a master key file: use the path of one`,
    )
  }
  const [version] = text.slice(MAGIC.length).split(':', 1)
  if (version !== VERSION && text.endsWith('\n')) {
    throw new MasterKeyError(
      'MasterKeyForeign',
      `${name} is a master key file of another version: use the release that created it`,
    )
  }
  if (!text.endsWith('\n')) throw truncated(name)
  const line = text.trimEnd()
  const [header, encoded, checksum] = lastTwo(line)
  const kind = header.split(':')[2]
  const bytes = Buffer.from(encoded, 'base64url')
  const size = kind === 'plain' ? MASTER_KEY_BYTES : WRAPPED_BYTES
  if ((kind !== 'plain' && kind !== 'scrypt') || bytes.length !== size) throw damaged(name)
  if (checksum !== checksumOf(`${header}:${encoded}`)) throw damaged(name)
  return { kind, header, bytes }
}

function costOf(header: string, name: string): ScryptCost {
  const [, N, r, p] = COST.exec(header.split(':')[3] ?? '') ?? []
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  if (!isAffordable(cost)) throw damaged(name)
  return cost
}

/** Splits at the last two colons. */
function lastTwo(line: string): [string, string, string] {
  const end = line.lastIndexOf(':')
  const middle = line.lastIndexOf(':', end - 1)
  return [line.slice(0, middle), line.slice(middle + 1, end), line.slice(end + 1)]
}

function withChecksum(header: string, bytes: Buffer): string {
  const content = `${header}:${bytes.toString('base64url')}`
  return `${content}:${checksumOf(content)}\n`
}

function checksumOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

function truncated(name: string): MasterKeyError {
  return new MasterKeyError('MasterKeyTruncated', `${name} was cut off: restore it from a backup`)
}

function damaged(name: string): MasterKeyError {
  return new MasterKeyError('MasterKeyDamaged', `${name} is damaged: restore it from a backup`)
}
