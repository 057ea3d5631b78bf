import { expect, test } from 'vitest'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain } from '../support/test-stores.ts'

onServiceStores('a registration', (newStores) => {
  test('is found by domain, by id, and by the hash of its temporary key', async () => {
    const { registrations, register } = newStores()
    const registration = await register()
    expect(await registrations.get(registration)).toEqual(registration)
    expect((await registrations.listByDomain(registration.domain)).items).toEqual([registration])
    expect(await registrations.findByTempKey(registration.temp_key)).toEqual(registration)
    expect((await registrations.listByDomain(newDomain())).items).toEqual([])
  })
})
