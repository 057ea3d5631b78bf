import { eachOperation, type TransactWriteItem } from '@strongroom/kit/db'
import type { Kms } from '@strongroom/kit/kms'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { dataModel } from '../src/data-model.ts'
import type { KeyStore } from '../src/store/key-store.ts'
import { openBranchKeys, openKeyStoreOn, openListingOn } from '../src/start.ts'
import { type OpenedService, openKeyStoreService } from './support/open-service.ts'

const PARTS = { Put: 'PutItem', Update: 'UpdateItem', Delete: 'DeleteItem' } as const

/** What the policy of each deployable function allows is what the function does, no more and no less. */
describe.each(testStores().slice(0, 1))('the policies of the key store on $name', (store) => {
  const opened = openKeyStoreService(store)

  /** What work asks of the store, in the words of IAM, and of KMS. */
  async function actionsOf(
    work: (on: Pick<OpenedService, 'db' | 'clock' | 'kmsKey'>) => Promise<unknown>,
  ) {
    const storeCalls = new Set<string>()
    const kmsCalls = new Set<string>()
    const db = eachOperation((name) => async (input) => {
      if (name === 'transactWriteItems') {
        for (const part of (input as { TransactItems: TransactWriteItem[] }).TransactItems)
          for (const kind of Object.keys(part)) storeCalls.add(PARTS[kind as keyof typeof PARTS])
      } else storeCalls.add(name.charAt(0).toUpperCase() + name.slice(1))
      return opened.db[name](input)
    })
    const { kms, arn } = opened.kmsKey
    const seen = new Proxy(kms, {
      get(target, name: keyof Kms) {
        kmsCalls.add(name)
        return target[name]
      },
    })
    await work({ db, clock: opened.clock, kmsKey: { kms: seen, arn } })
    return { store: [...storeCalls].toSorted(), kms: [...kmsCalls].toSorted() }
  }

  const allowed = (name: string) =>
    dataModel.functions
      .filter((each) => each.name === name)
      .flatMap(({ allows }) => allows.flatMap(({ actions }) => [...actions]))
      .toSorted()

  async function actionsOnKey(work: (keyStore: KeyStore, id: string) => Promise<unknown>) {
    const { id } = await openBranchKeys(opened).create({})
    return actionsOf((on) => work(openKeyStoreOn(on), id))
  }

  test('create-branch-key', async () => {
    const done = await actionsOf((on) => openKeyStoreOn(on).createKey())
    expect(done).toEqual({
      store: allowed('create-branch-key'),
      kms: ['generateDataKeyWithoutPlaintext', 'reEncrypt'],
    })
  })

  test('version-branch-key', async () => {
    const done = await actionsOnKey((keyStore, branchKeyIdentifier) =>
      keyStore.versionKey({ branchKeyIdentifier }),
    )
    expect(done).toEqual({
      store: allowed('version-branch-key'),
      kms: ['generateDataKeyWithoutPlaintext', 'reEncrypt'],
    })
  })

  test('read-branch-key', async () => {
    const done = await actionsOnKey(async (keyStore, branchKeyIdentifier) => {
      const { branchKeyVersion } = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
      await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })
      await keyStore.getBeaconKey({ branchKeyIdentifier })
    })
    expect(done).toEqual({ store: allowed('read-branch-key'), kms: ['decrypt'] })
  })

  test('list-branch-keys', async () => {
    const done = await actionsOf(({ db }) => openListingOn(db).listBranchKeys())
    expect(done).toEqual({ store: allowed('list-branch-keys'), kms: [] })
  })

  test('show-branch-key', async () => {
    const done = await actionsOf(({ db }) => openListingOn(db).listBranchKeyParts('any'))
    expect(done).toEqual({ store: allowed('show-branch-key'), kms: [] })
  })

  test('there is no other', () => {
    expect(dataModel.functions.map(({ name }) => name)).toEqual([
      'create-branch-key',
      'version-branch-key',
      'read-branch-key',
      'list-branch-keys',
      'show-branch-key',
    ])
  })
})
