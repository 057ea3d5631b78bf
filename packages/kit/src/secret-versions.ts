/** The versions of server secrets as they are stored: `SECRET#{name}`/`V#{n}`, sealed by KMS. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from './clock.ts'
import type { Db, Item } from './db.ts'
import { ConditionFailed, isNamed, TransactionFailed } from './db-errors.ts'
import { entity, transact } from './entity.ts'
import { defineErrors } from './errors.ts'
import { expr } from './expression.ts'
import type { KmsKey } from './kms.ts'
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

/** What may be told of a version. Times are epoch seconds. */
export interface SecretVersion {
  name: string
  version: number
  createdAt: number
  /** From when on it is used. */
  activeFrom: number
  /** Until when it is honoured; undefined for the newest. */
  acceptedUntil: number | undefined
}

export const secretError = defineErrors('secret', {
  invalid_name: [
    400,
    'A server secret has a name of 1 to 64 lower-case letters, digits, dots and hyphens',
  ],
  invalid_overlap: [400, 'An overlap is a whole number of seconds, at most ten years'],
  not_found: [404, 'There is no server secret of this name: see "strongroom secrets list"'],
  rotated_meanwhile: [409, 'The secret was rotated by somebody else just now: look at it again'],
})

/** KMS does not open a secret; the message is one line that says what to do. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable'
}

const KEY_BYTES = 32
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/
const TEN_YEARS_SECONDS = 3653 * 86_400

export function requireSecretName(name: string): void {
  if (!NAME.test(name)) throw secretError('invalid_name')
}

/** Whether what was made with this version is still taken. */
export function isAccepted({ acceptedUntil }: SecretItem, now: number): boolean {
  return acceptedUntil === undefined || acceptedUntil > now
}

export function createSecretVersions(deps: { db: Db; key: KmsKey; clock: Clock }) {
  const { db, key, clock } = deps
  const items = entity(db, serverTable, SecretItem)
  const absent = expr`attribute_not_exists(${items.attr('PK')})`
  const present = expr`attribute_exists(${items.attr('PK')})`
  const acceptedUntil = items.attr('acceptedUntil')

  /** All that are stored, the newest first. `V#10` stands before `V#2`, so the order is not the table's. */
  async function stored(name: string): Promise<SecretItem[]> {
    const page = await items.query({ key: expr`${items.attr('PK')} = ${`SECRET#${name}`}` })
    return page.items.map(inPlace).toSorted((a, b) => b.version - a.version)
  }

  async function remove({ PK, SK }: SecretItem, now: number): Promise<void> {
    await items.delete({ PK, SK }, expr`${acceptedUntil} <= ${now}`).catch((error: unknown) => {
      // Another process was faster.
      if (!(error instanceof ConditionFailed)) throw error
    })
  }

  async function first(name: string): Promise<SecretItem> {
    const item = await newVersion(name, 1, epochSeconds(clock))
    try {
      await items.put(item, absent)
      return item
    } catch (error) {
      // Of servers that make it at once one succeeds, and the others take what that one made.
      if (error instanceof ConditionFailed && error.item) return inPlace(items.parse(error.item))
      throw error
    }
  }

  async function newVersion(name: string, version: number, activeFrom: number) {
    const plain = randomBytes(KEY_BYTES)
    const { CiphertextBlob: sealed } = await key.kms.encrypt({
      KeyId: key.arn,
      Plaintext: plain,
      EncryptionContext: contextOf({ name, version }),
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
    /** The versions that are honoured, the newest first. Those that are no more are removed. */
    async acceptedOrFirst(name: string): Promise<SecretItem[]> {
      const now = epochSeconds(clock)
      const all = await stored(name)
      for (const item of all) if (!isAccepted(item, now)) await remove(item, now)
      const accepted = all.filter((item) => isAccepted(item, now))
      return accepted.length > 0 ? accepted : [await first(name)]
    },

    async open(item: SecretItem): Promise<Uint8Array> {
      const { Plaintext } = await key.kms
        .decrypt({
          KeyId: key.arn,
          CiphertextBlob: item.sealed,
          EncryptionContext: contextOf(item),
        })
        .catch((error: unknown) => {
          throw unreadable(item, error)
        })
      if (Plaintext.length !== KEY_BYTES) throw unreadable(item)
      return Plaintext
    },

    /** The new version is used after `spreadSeconds`, and no older one is honoured longer than the overlap after that. */
    async rotate(
      name: string,
      { overlapSeconds, spreadSeconds }: { overlapSeconds: number; spreadSeconds: number },
    ): Promise<SecretVersion> {
      requireSecretName(name)
      requireOverlap(overlapSeconds)
      const before = await stored(name)
      const [newest] = before
      if (!newest) throw secretError('not_found')
      const activeFrom = epochSeconds(clock) + spreadSeconds
      const end = activeFrom + overlapSeconds
      const made = await newVersion(name, newest.version + 1, activeFrom)
      const ending = before
        .filter((item) => isAccepted(item, end))
        .map(({ PK, SK }) =>
          items.part.update({ PK, SK }, expr`SET ${acceptedUntil} = ${end}`, present),
        )
      await transact(db, [items.part.put(made, absent), ...ending]).catch((error: unknown) => {
        const raced = error instanceof TransactionFailed && error.conditionFailed()
        throw raced ? secretError('rotated_meanwhile', { cause: error }) : error
      })
      return factsOf(made)
    },

    async list(): Promise<SecretVersion[]> {
      const found: SecretVersion[] = []
      let from: Item | undefined
      do {
        // The table is small and read this way by people only.
        const page = await db.scan({
          TableName: serverTable.name,
          ConsistentRead: true,
          FilterExpression: 'begins_with(PK, :secret)',
          ExpressionAttributeValues: { ':secret': 'SECRET#' },
          ...(from && { ExclusiveStartKey: from }),
        })
        found.push(...(page.Items ?? []).map((item) => factsOf(items.parse(item))))
        from = page.LastEvaluatedKey
      } while (from)
      return found.toSorted((a, b) =>
        a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1,
      )
    },
  }
}

/** Refuses an item that somebody copied to the place of another secret or version. */
function inPlace(item: SecretItem): SecretItem {
  const { PK, SK, name, version } = item
  if (PK !== `SECRET#${name}` || SK !== `V#${version}`) throw unreadable(item)
  return item
}

/** Authenticated with the secret: an item that was renamed does not open. */
function contextOf({ name, version }: { name: string; version: number }) {
  return { name, version: String(version) }
}

function factsOf(item: Omit<SecretItem, 'sealed'>): SecretVersion {
  const { name, version, createdAt, activeFrom, acceptedUntil } = item
  return { name, version, createdAt, activeFrom, acceptedUntil }
}

function requireOverlap(seconds: number): void {
  if (Number.isSafeInteger(seconds) && seconds >= 0 && seconds <= TEN_YEARS_SECONDS) return
  throw secretError('invalid_overlap')
}

/** Anything but a refusal of the ciphertext, such as a KMS that is not there, is passed on. */
function unreadable({ name, version }: SecretItem, cause?: unknown): unknown {
  const which = `the server secret ${name}, version ${version},`
  if (isNamed(cause, 'IncorrectKeyException')) {
    return new SecretUnreadable(
      `Cannot open ${which} because another KMS key sealed it: configure the key that this store was started with`,
      { cause },
    )
  }
  if (cause === undefined || isNamed(cause, 'InvalidCiphertextException')) {
    return new SecretUnreadable(
      `Cannot open ${which} because it was altered, moved or sealed by another KMS: restore it from a backup, or configure the KMS that this store was started with`,
      { cause },
    )
  }
  return cause
}
