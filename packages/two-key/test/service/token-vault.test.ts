import type { Db } from '@strongroom/kit/db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox } from '@strongroom/kit/testing/test-secret-box'
import { describe, expect, test } from 'vitest'
import { createTwoKeyStore } from '../../src/store.ts'
import { createTokenVault } from '../../src/tokens/token-vault.ts'
import { openDb } from '../existence/scene.ts'
import { newIds } from '../open-store.ts'
import { losingDb } from './machine.ts'

describe.each(serviceStores())('a token, on $name', (store) => {
  const opened = openDb(store)

  test('that was stored is used, although the store did not say that it was', async () => {
    const { vault, team } = await forgetful(opened.db)
    await expect(vault.put(team, 'xoxb-new')).rejects.toThrow('The answer got lost')
    expect(await vault.tokenOf(team)).toBe('xoxb-new')
  })
})

describe.each(serviceStores())('a dead token, on $name', (store) => {
  const opened = openDb(store)

  function machines() {
    const clock = testClock()
    const { tokens } = createTwoKeyStore({ db: opened.db, clock })
    const vault = () => createTokenVault({ app: 'deploy-bot', tokens, box: secretBox, clock })
    const { team } = newIds()
    return { one: vault(), other: vault(), third: vault(), team, clock, tokens }
  }

  test('is deleted', async () => {
    const { one, other, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await one.deleteDead(team, 'xoxb-old')
    expect(await other.tokenOf(team)).toBeUndefined()
    expect(await one.tokenOf(team)).toBeUndefined()
  })

  test('does not take with it the one that another machine has put in its place', async () => {
    const { one, other, third, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await other.put(team, 'xoxb-new')
    await one.deleteDead(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
    expect(await one.tokenOf(team)).toBe('xoxb-new')
  })

  test('that was deleted is not used, although the store did not say that it was', async () => {
    const { vault, team } = await forgetful(opened.db)
    await expect(vault.deleteDead(team, 'xoxb-old')).rejects.toThrow('The answer got lost')
    expect(await vault.tokenOf(team)).toBeUndefined()
  })

  test('does not take with it the one that this machine has come to use meanwhile', async () => {
    const { one, third, team } = machines()
    await one.put(team, 'xoxb-old')
    expect(await one.tokenOf(team)).toBe('xoxb-old')
    await one.put(team, 'xoxb-new')
    expect(await one.tokenOf(team)).toBe('xoxb-new')
    await one.deleteDead(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
  })

  test('does not take with it the one that is put in its place at the last moment', async () => {
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
    const one = createTokenVault({ app: 'deploy-bot', tokens: late, box: secretBox, clock })
    await one.deleteDead(team, 'xoxb-old')
    expect(await third.tokenOf(team)).toBe('xoxb-new')
  })
})

/** Has a token in use, and a store that does the next write without saying so. */
async function forgetful(stored: Db) {
  const clock = testClock()
  const { team } = newIds()
  const { db, lose } = losingDb(stored, 'slack-workspace-tokens')
  const { tokens } = createTwoKeyStore({ db, clock })
  const vault = createTokenVault({ app: 'deploy-bot', tokens, box: secretBox, clock })
  await vault.put(team, 'xoxb-old')
  expect(await vault.tokenOf(team)).toBe('xoxb-old')
  lose()
  return { vault, team }
}
