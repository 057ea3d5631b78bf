/** The state of a rekey in `strongroom-server`: `KMSKEY`/`MASTER`. */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { transact } from '@strongroom/kit/transact'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import { conditionHeld } from '@strongroom/kit/db-errors'
import type { RekeyStorage } from '@strongroom/kms/key-storage'
import { MASTER_KEY, MasterKeyItem, StateItem, stateKey, VersionItem, versionKey } from './items.ts'

export function createRekeyStorage(db: Db): RekeyStorage {
  const master = entity(db, serverTable, MasterKeyItem)
  const states = entity(db, serverTable, StateItem)
  const versions = entity(db, serverTable, VersionItem)
  const [current, next] = [master.attr('current'), master.attr('next')]
  const [wrapped, nextWrapped] = [versions.attr('wrapped'), versions.attr('nextWrapped')]
  const isDecided = master.attr('decided')
  const undecided = (expected: Uint8Array) =>
    expr`${next} = ${expected} AND attribute_not_exists(${isDecided})`

  return {
    async change() {
      const item = await master.get(MASTER_KEY)
      return (
        item?.next && { current: item.current, next: item.next, decided: item.decided === true }
      )
    },

    begin: (from, to, replacing) =>
      conditionHeld(
        master.put(
          { ...MASTER_KEY, current: from, next: to },
          replacing
            ? expr`${undecided(replacing)} AND ${current} = ${from}`
            : expr`attribute_not_exists(${next}) AND (attribute_not_exists(${current}) OR ${current} = ${from})`,
        ),
      ),

    // A transaction has at most 100 parts: the condition, the key and its backing keys.
    stage: (id, backingKeys, to) =>
      conditionHeld(
        transact(db, [
          master.part.check(MASTER_KEY, undecided(to)),
          ...backingKeys.map((each) =>
            versions.part.update(
              versionKey(id, each.version),
              expr`SET ${nextWrapped} = ${each.to}`,
              expr`${wrapped} = ${each.from}`,
            ),
          ),
        ]),
      ),

    decide: (to) =>
      conditionHeld(master.update(MASTER_KEY, expr`SET ${isDecided} = ${true}`, undecided(to))),

    abandon: (to) => conditionHeld(master.update(MASTER_KEY, expr`REMOVE ${next}`, undecided(to))),

    promote: (id, count, to, expected) =>
      conditionHeld(
        transact(db, [
          states.part.update(
            stateKey(id),
            expr`SET ${states.attr('masterKeyCheck')} = ${to}, ${states.attr('revision')} = ${expected + 1}`,
            expr`${states.attr('revision')} = ${expected}`,
          ),
          ...Array.from({ length: count }, (_, index) =>
            versions.part.update(
              versionKey(id, index + 1),
              expr`SET ${wrapped} = ${nextWrapped} REMOVE ${nextWrapped}`,
              expr`attribute_exists(${nextWrapped})`,
            ),
          ),
        ]),
      ),

    end: (to) =>
      conditionHeld(
        master.update(
          MASTER_KEY,
          expr`SET ${current} = ${to} REMOVE ${next}, ${isDecided}`,
          expr`${next} = ${to} AND ${isDecided} = ${true}`,
        ),
      ),
  }
}
