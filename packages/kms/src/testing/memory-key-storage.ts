/** A store in memory for tests, with the conditions of a real one. */
import type { BackingKey, KeyRecord, KeyStorage } from '../key-storage.ts'

interface StoredKey {
  record: KeyRecord
  versions: Map<number, BackingKey>
}

export interface MemoryKeyStorage extends KeyStorage {
  /** For tests that inspect or damage stored data. */
  readonly keys: Map<string, StoredKey>
}

export function memoryKeyStorage(): MemoryKeyStorage {
  const keys = new Map<string, StoredKey>()
  const unchanged = (id: string, revision: number) => {
    const stored = keys.get(id)
    return stored?.record.revision === revision ? stored : undefined
  }

  return {
    keys,
    async load(id) {
      return keys.get(id)?.record
    },
    async loadVersion(id, version) {
      return keys.get(id)?.versions.get(version)
    },
    async list() {
      return [...keys.values()].map(({ record }) => record)
    },
    async create(record, first) {
      if (keys.has(record.id)) return false
      keys.set(record.id, { record, versions: new Map([[first.version, first]]) })
      return true
    },
    async addVersion(id, backingKey, expectedRevision) {
      const stored = unchanged(id, expectedRevision)
      if (!stored || stored.versions.has(backingKey.version)) return false
      stored.versions.set(backingKey.version, backingKey)
      stored.record = {
        ...stored.record,
        currentVersion: backingKey.version,
        revision: expectedRevision + 1,
      }
      return true
    },
    async updateState(id, change, expectedRevision) {
      const stored = unchanged(id, expectedRevision)
      if (!stored) return false
      const { deletionAt: _, dueSeenAt: _seen, ...record } = stored.record
      stored.record = { ...record, ...change, revision: expectedRevision + 1 }
      return true
    },
    async updateDueSeenAt(id, dueSeenAt, expectedRevision) {
      const stored = unchanged(id, expectedRevision)
      if (!stored) return false
      const { dueSeenAt: _, ...record } = stored.record
      stored.record = {
        ...record,
        ...(dueSeenAt !== undefined && { dueSeenAt }),
        revision: expectedRevision + 1,
      }
      return true
    },
    async remove(id, expectedRevision) {
      return unchanged(id, expectedRevision) !== undefined && keys.delete(id)
    },
  }
}
