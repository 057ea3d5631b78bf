/**
 * Secrets of the server itself, such as the keys that sign tokens and seal cursors: 32 random bytes
 * each, made once, kept in `strongroom-server` sealed by KMS, rotated with overlap.
 *
 * Each process keeps them in memory and looks for changes once a minute. A new version is honoured as
 * soon as it is seen, and used only when every process must have seen it, so that none refuses what
 * another one has just made.
 */
import { type Clock, epochSeconds, isRecent } from './clock.ts'
import type { Db } from './db.ts'
import type { KmsKey } from './kms.ts'
import {
  createSecretVersions,
  isAccepted,
  requireSecretName,
  type SecretItem,
  type SecretVersion,
} from './secret-versions.ts'

export interface ServerSecrets {
  /** What is made now is made with this version. Made on the first call. */
  current(name: string): Promise<ServerSecret>
  /** Every version that is honoured, the current one first: what comes back is checked with these. */
  accepted(name: string): Promise<readonly ServerSecret[]>
}

export interface ServerSecret {
  version: number
  key: Uint8Array
}

/** The secrets with what only an operator does to them. */
export interface KeptSecrets extends ServerSecrets {
  /**
   * Makes a new version. Older ones are honoured for so long after it is in use; with no overlap it
   * is in use at once, and they end with the next look of each process, within a minute.
   */
  rotate(name: string, options: { overlapSeconds: number }): Promise<SecretVersion>
  /** All versions by name, the newest first; never their values. */
  list(): Promise<SecretVersion[]>
}

/** How long a process goes without looking whether another one has rotated a secret. */
const REFRESH_SECONDS = 60
/** Twice that, because the clocks of two machines differ. */
const SPREAD_SECONDS = 2 * REFRESH_SECONDS

export function createServerSecrets(deps: { db: Db; key: KmsKey; clock: Clock }): KeptSecrets {
  const { clock } = deps
  const versions = createSecretVersions(deps)
  const known = new Map<string, { at: number; opened: readonly Opened[] }>()
  const loading = new Map<string, Promise<readonly Opened[]>>()

  async function openedOf(name: string): Promise<readonly Opened[]> {
    requireSecretName(name)
    const found = known.get(name)
    // After a clock that was set back others may have rotated in the time that is to come again.
    if (found && isRecent(clock, found.at, REFRESH_SECONDS * 1000)) return found.opened
    const running = loading.get(name) ?? load(name).finally(() => loading.delete(name))
    loading.set(name, running)
    return running
  }

  async function load(name: string): Promise<readonly Opened[]> {
    const at = clock.now()
    const before = known.get(name)?.opened ?? []
    const items = await versions.acceptedOrFirst(name)
    const opened = await Promise.all(items.map((item) => open(item, before)))
    known.set(name, { at, opened })
    return opened
  }

  /** Asks KMS only for what it has not opened before. */
  async function open(item: SecretItem, before: readonly Opened[]): Promise<Opened> {
    const same = before.find(({ item: { sealed } }) => Buffer.compare(sealed, item.sealed) === 0)
    return { item, key: same?.key ?? (await versions.open(item)) }
  }

  return {
    async current(name) {
      return secretOf(currentOf(await openedOf(name), epochSeconds(clock)))
    },

    async accepted(name) {
      const opened = await openedOf(name)
      const now = epochSeconds(clock)
      const current = currentOf(opened, now)
      const others = opened.filter((each) => each !== current && isAccepted(each.item, now))
      return [current, ...others].map(secretOf)
    },

    async rotate(name, { overlapSeconds }) {
      const spreadSeconds = overlapSeconds === 0 ? 0 : SPREAD_SECONDS
      const made = await versions.rotate(name, { overlapSeconds, spreadSeconds })
      known.delete(name)
      return made
    },

    list: () => versions.list(),
  }
}

/** A version with its key, as this process has it in memory. */
interface Opened {
  item: SecretItem
  key: Uint8Array
}

/** The newest that is in use; should clocks disagree on that, the oldest, which every process knows. */
function currentOf(opened: readonly Opened[], now: number): Opened {
  const accepted = opened.filter(({ item }) => isAccepted(item, now))
  const found = accepted.find(({ item }) => item.activeFrom <= now) ?? accepted.at(-1)
  if (!found)
    throw new Error('No version of a server secret is honoured: the newest one is missing')
  return found
}

/** A copy, so that what a caller does with it changes nobody else's. */
function secretOf({ item, key }: Opened): ServerSecret {
  return { version: item.version, key: Uint8Array.from(key) }
}
