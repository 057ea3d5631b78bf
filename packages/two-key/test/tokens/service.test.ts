import type { Db } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { describe, expect, test } from 'vitest'
import { createStores } from '../../src/stores.ts'
import { createTokenService } from '../../src/tokens/service.ts'
import { openDb } from '../support/test-checkers.ts'
import { newIds } from '../support/open-store.ts'
import { losingDb } from '../support/machine.ts'

describe.each(serviceStores())('a token, on $name', (store) => {
  const opened = openDb(store)

  test('that was stored is used even if the response of the store was lost', async () => {
    const { vault, team } = await forgetful(opened.db)
    await expect(vault.put(team, 'xoxb-new')).rejects.toThrow('The response was lost')
    expect(await vault.tokenOf(team)).toBe('xoxb-new')
  })
})

describe.each(serviceStores())('a revoked token, on $name', (store) => {
  const opened = openDb(store)

  function machines() {
    const clock = testClock()
    const { tokens } = createStores({ db: opened.db, clock })
    const vault = () => createTokenService({ app: 'deploy-bot', tokens, box: secretBox, clock })
    const { team } = newIds()
    return { one: vault(), other: vault(), third: vault(), team, clock, tokens }
  }

  test('is deleted', async () => {
    const { one, other, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await one.deleteRevoked(team, 'xoxb-old')
    expect(await other.tokenOf(team)).toBeUndefined()
    expect(await one.tokenOf(team)).toBeUndefined()
  })

  test('is not deleted if another machine has replaced it', async () => {
    const { one, other, third, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await other.put(team, 'xoxb-new')
    await one.deleteRevoked(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
    expect(await one.tokenOf(team)).toBe('xoxb-new')
  })

  test('that was deleted is not used even if the response of the store was lost', async () => {
    const { vault, team } = await forgetful(opened.db)
    await expect(vault.deleteRevoked(team, 'xoxb-old')).rejects.toThrow('The response was lost')
    expect(await vault.tokenOf(team)).toBeUndefined()
  })

  test('is not deleted if this machine has replaced it', async () => {
    const { one, third, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await one.put(team, 'xoxb-new')
    expect(await one.tokenOf(team)).toBe('xoxb-new')
    await one.deleteRevoked(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
  })

  test('is not deleted if it is replaced at the last moment', async () => {
    const { other, third, team, clock, tokens } = machines()
    await other.put(team, 'xoxb-old')
    const late = {
      ...tokens,
      async get(of: string) {
        const item = await tokens.get(of)
        await other.put(of, 'xoxb-new')
        return item
      },
    }
    const one = createTokenService({ app: 'deploy-bot', tokens: late, box: secretBox, clock })
    await one.deleteRevoked(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
  })
})

/** A token in use, and a store that loses the response to the next write. */
async function forgetful(stored: Db) {
  const clock = testClock()
  const { team } = newIds()
  const { db, lose } = losingDb(stored, 'slack-workspace-tokens')
  const { tokens } = createStores({ db, clock })
  const vault = createTokenService({ app: 'deploy-bot', tokens, box: secretBox, clock })
  await vault.put(team, 'xoxb-old')
  expect(await vault.tokenOf(team)).toBe('xoxb-old')
  lose()
  return { vault, team }
}
