/**
 * Secrets of the server itself, such as the keys that sign tokens and seal cursors: 32 random bytes
 * each, created once, stored in `strongroom-server` encrypted by KMS, rotated with overlap.
 *
 * Each process caches them, reads them again once a minute, and has KMS decrypt them again before
 * `KEY_CACHE_SECONDS` have passed. A new version is accepted as soon as a
 * process reads it, and used only when every process must have read it, so that no process rejects
 * what another one has just issued.
 */
import { type Clock, epochSeconds, isRecent } from '@strongroom/platform/clock'
import type { Db } from './db.ts'
import { KEY_CACHE_SECONDS } from './key-cache.ts'
import type { KmsKey } from './kms.ts'
import {
  createSecretVersions,
  isAccepted,
  listSecretVersions,
  requireSecretName,
  type SecretItem,
  type SecretVersion,
} from './secret-versions.ts'

export interface ServerSecrets {
  /** The version to sign or seal with. Created on the first call. */
  current(name: string): Promise<ServerSecret>
  /** All versions to verify or open with, the current one first. */
  accepted(name: string): Promise<readonly ServerSecret[]>
}

export interface ServerSecret {
  version: number
  key: Uint8Array
}

/** The secrets with what only operators may do. */
export interface ServerSecretsAdmin extends ServerSecrets {
  /**
   * Creates a new version. Older ones are accepted for the overlap after it begins to be used. Without
   * an overlap it is used immediately, and each process drops the older ones within a minute.
   */
  rotate(name: string, options: { overlapSeconds: number }): Promise<SecretVersion>
  /** All versions by name, the newest first; never their values. */
  list(): Promise<SecretVersion[]>
}

/** How long a process uses cached secrets before it checks for a rotation. */
const REFRESH_SECONDS = 60
/** A key that is read again at this age is used until the next read. */
const MAX_REUSE_AGE_MS = (KEY_CACHE_SECONDS - REFRESH_SECONDS) * 1000
/** Twice as long, because the clocks of two machines differ. */
const SPREAD_SECONDS = 2 * REFRESH_SECONDS

export function createServerSecrets(deps: {
  db: Db
  key: KmsKey
  clock: Clock
}): ServerSecretsAdmin {
  const { clock } = deps
  const versions = createSecretVersions(deps)
  const known = new Map<string, { at: number; opened: readonly Opened[] }>()
  const loading = new Map<string, Promise<readonly Opened[]>>()

  async function openedOf(name: string): Promise<readonly Opened[]> {
    requireSecretName(name)
    const found = known.get(name)
    // After the clock was set back, the age of the cached secrets is unknown.
    if (found && isRecent(clock, found.at, REFRESH_SECONDS * 1000)) return found.opened
    const running = loading.get(name) ?? load(name).finally(() => loading.delete(name))
    loading.set(name, running)
    return running
  }

  async function load(name: string): Promise<readonly Opened[]> {
    const at = clock.now()
    const before = known.get(name)?.opened ?? []
    const items = await versions.loadOrCreate(name)
    const opened = await Promise.all(items.map((item) => open(item, before, at)))
    known.set(name, { at, opened })
    return opened
  }

  /** Calls KMS only for secrets that are not cached, or for too long. */
  async function open(item: SecretItem, before: readonly Opened[], at: number): Promise<Opened> {
    const same = before.find(({ item: { sealed } }) => Buffer.compare(sealed, item.sealed) === 0)
    if (same && isRecent(clock, same.openedAt, MAX_REUSE_AGE_MS)) return { ...same, item }
    return { item, key: await versions.open(item), openedAt: at }
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
      const created = await versions.rotate(name, { overlapSeconds, spreadSeconds })
      known.delete(name)
      return created
    },

    list: () => listSecretVersions(deps.db),
  }
}

/** A version with its decrypted key. */
interface Opened {
  item: SecretItem
  key: Uint8Array
  /** When KMS was asked for it. */
  openedAt: number
}

/** The newest that is in use; if clocks disagree, the oldest, which every process has. */
function currentOf(opened: readonly Opened[], now: number): Opened {
  const accepted = opened.filter(({ item }) => isAccepted(item, now))
  const found = accepted.find(({ item }) => item.activeFrom <= now) ?? accepted.at(-1)
  if (!found)
    throw new Error('No version of a server secret is accepted: the newest one is missing')
  return found
}

/** A copy, so that a caller that changes or wipes it does not affect others. */
function secretOf({ item, key }: Opened): ServerSecret {
  return { version: item.version, key: Uint8Array.from(key) }
}
