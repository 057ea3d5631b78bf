/** Stores the versions of server secrets: `SECRET#{name}`/`V#{n}`, encrypted by KMS. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { Db } from './db.ts'
import { conditionHeld, ConditionFailed, isNamed, TransactionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { transact } from './transact.ts'
import { defineErrors, Failure } from './errors.ts'
import { expr } from './expression.ts'
import type { KmsKey } from './kms.ts'
import { scanAll } from './paging.ts'
import { serverTable } from './server-table.ts'

export const SecretItem = z.object({
  PK: z.string().startsWith('SECRET#'),
  SK: z.string().regex(/^V#[1-9]\d{0,8}$/),
  name: z.string(),
  version: z.number().int().positive(),
  /** The key, as KMS encrypted it with the context `{ name, version }`. */
  sealed: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0),
  createdAt: z.number().int(),
  activeFrom: z.number().int(),
  acceptedUntil: z.number().int().optional(),
})
export type SecretItem = z.infer<typeof SecretItem>

/** A version without its value. Times are epoch seconds. */
export interface SecretVersion {
  name: string
  version: number
  createdAt: number
  /** When it begins to be used. */
  activeFrom: number
  /** When it stops being accepted; undefined for the newest. */
  acceptedUntil: number | undefined
}

export const secretError = defineErrors('secret', {
  invalid_name: [
    400,
    'The name of a server secret has 1 to 64 lower-case letters, digits, dots and hyphens',
  ],
  invalid_overlap: [400, 'The overlap is a whole number of seconds, at most ten years'],
  not_found: [404, 'Server secret not found. See "strongroom secrets list".'],
  rotated_meanwhile: [
    409,
    'Another process rotated the secret at the same time. Check its versions before you retry.',
  ],
})

const KEY_BYTES = 32
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/
const MAX_OVERLAP_SECONDS = 3653 * 86_400

export function requireSecretName(name: string): void {
  if (!NAME.test(name)) throw secretError('invalid_name')
}

/** Whether tokens and cursors of this version are still accepted. */
export function isAccepted({ acceptedUntil }: SecretItem, now: number): boolean {
  return acceptedUntil === undefined || acceptedUntil > now
}

export function createSecretVersions(deps: { db: Db; key: KmsKey; clock: Clock }) {
  const { db, key, clock } = deps
  const items = entity(db, serverTable, SecretItem)
  const absent = expr`attribute_not_exists(${items.attr('PK')})`
  const present = expr`attribute_exists(${items.attr('PK')})`
  const acceptedUntil = items.attr('acceptedUntil')

  /** The newest first. The table sorts `V#10` before `V#2`, so its order is not used. */
  async function loadAll(name: string): Promise<SecretItem[]> {
    const page = await items.query({ key: expr`${items.attr('PK')} = ${`SECRET#${name}`}` })
    return page.items.map(requireOwnKey).toSorted((a, b) => b.version - a.version)
  }

  async function remove({ PK, SK }: SecretItem, now: number): Promise<void> {
    // The condition fails if another process removed it first.
    await conditionHeld(items.delete({ PK, SK }, expr`${acceptedUntil} <= ${now}`))
  }

  async function createFirst(name: string): Promise<SecretItem> {
    const item = await newVersion(name, 1, epochSeconds(clock))
    try {
      await items.put(item, absent)
      return item
    } catch (error) {
      // If several servers create it at the same time, one succeeds and the others use its secret.
      if (error instanceof ConditionFailed && error.item)
        return requireOwnKey(items.parse(error.item))
      throw error
    }
  }

  async function newVersion(name: string, version: number, activeFrom: number) {
    const plain = randomBytes(KEY_BYTES)
    const { CiphertextBlob: sealed } = await key.kms.encrypt({
      KeyId: key.arn,
      Plaintext: plain,
      EncryptionContext: secretContext({ name, version }),
    })
    plain.fill(0)
    const createdAt = epochSeconds(clock)
    return {
      PK: `SECRET#${name}`,
      SK: `V#${version}`,
      name,
      version,
      sealed,
      createdAt,
      activeFrom,
    }
  }

  return {
    /** The accepted versions, the newest first. Removes the others. */
    async loadOrCreate(name: string): Promise<SecretItem[]> {
      const now = epochSeconds(clock)
      const all = await loadAll(name)
      for (const item of all) if (!isAccepted(item, now)) await remove(item, now)
      const accepted = all.filter((item) => isAccepted(item, now))
      return accepted.length > 0 ? accepted : [await createFirst(name)]
    },

    async open(item: SecretItem): Promise<Uint8Array> {
      const { Plaintext } = await key.kms
        .decrypt({
          KeyId: key.arn,
          CiphertextBlob: item.sealed,
          EncryptionContext: secretContext(item),
        })
        .catch((error: unknown) => {
          throw unreadable(item, error)
        })
      if (Plaintext.length !== KEY_BYTES) throw unreadable(item)
      return Plaintext
    },

    /** The new version is used after `spreadSeconds`; older ones are accepted for the overlap after that. */
    async rotate(
      name: string,
      { overlapSeconds, spreadSeconds }: { overlapSeconds: number; spreadSeconds: number },
    ): Promise<SecretVersion> {
      requireSecretName(name)
      requireOverlap(overlapSeconds)
      const before = await loadAll(name)
      const [newest] = before
      if (!newest) throw secretError('not_found')
      const activeFrom = epochSeconds(clock) + spreadSeconds
      const end = activeFrom + overlapSeconds
      const created = await newVersion(name, newest.version + 1, activeFrom)
      const ending = before
        .filter((item) => isAccepted(item, end))
        .map(({ PK, SK }) =>
          items.part.update({ PK, SK }, expr`SET ${acceptedUntil} = ${end}`, present),
        )
      await transact(db, [items.part.put(created, absent), ...ending]).catch((error: unknown) => {
        const isRaced = error instanceof TransactionFailed && error.conditionFailed()
        throw isRaced ? secretError('rotated_meanwhile', { cause: error }) : error
      })
      return toView(created)
    },
  }
}

/** All versions by name, the newest first; never their values, so it needs no KMS. */
export async function listSecretVersions(db: Db): Promise<SecretVersion[]> {
  const items = entity(db, serverTable, SecretItem)
  // A scan, because the table is small and only people read this.
  const found: SecretVersion[] = []
  const filter = expr`begins_with(${items.attr('PK')}, ${'SECRET#'})`
  for await (const item of scanAll(db, serverTable, { filter }, items.parse)) {
    found.push(toView(item))
  }
  return found.toSorted((a, b) =>
    a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1,
  )
}

/** Rejects an item that was copied to the key of another secret or version. */
function requireOwnKey(item: SecretItem): SecretItem {
  const { PK, SK, name, version } = item
  if (PK !== `SECRET#${name}` || SK !== `V#${version}`) throw unreadable(item)
  return item
}

/** Authenticated together with the secret: a renamed item does not decrypt. */
export function secretContext({ name, version }: { name: string; version: number }) {
  return { name, version: String(version) }
}

function toView(item: Omit<SecretItem, 'sealed'>): SecretVersion {
  const { name, version, createdAt, activeFrom, acceptedUntil } = item
  return { name, version, createdAt, activeFrom, acceptedUntil }
}

function requireOverlap(seconds: number): void {
  if (Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= MAX_OVERLAP_SECONDS) return
  throw secretError('invalid_overlap')
}

/** Only a rejected ciphertext means unreadable; other errors of KMS, such as an outage, pass through. */
function unreadable({ name, version }: SecretItem, cause?: unknown): unknown {
  const which = `the server secret ${name}, version ${version},`
  if (isNamed(cause, 'IncorrectKeyException')) {
    return new Failure(
      'failed',
      `Cannot open ${which} because it was encrypted with another KMS key. Configure the key that this store was created with.`,
      { cause },
    )
  }
  if (cause === undefined || isNamed(cause, 'InvalidCiphertextException')) {
    return new Failure(
      'failed',
      `Cannot open ${which} because it was altered, moved or encrypted by another KMS. Restore it from a backup, or configure the KMS that this store was created with.`,
      { cause },
    )
  }
  return cause
}
