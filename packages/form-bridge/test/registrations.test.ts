import { expect, test } from 'vitest'
import { onServiceStores } from './on-every-store.ts'
import { newDomain } from './world.ts'

onServiceStores('a validation', (world) => {
  test('is found by domain, and by the registration it was made for', async () => {
    const { validations, register } = world()
    const { domain, registration_id } = await register()
    const made = await validations.put({
      domain,
      registration_id,
      validation_level: 'basic',
      passes_validation: true,
      validation_score: 61,
      validation_results: {},
    })
    expect(await validations.get(domain)).toEqual(made)
    expect(await validations.findByRegistration(registration_id)).toEqual(made)
    expect(await validations.get(newDomain())).toBeUndefined()
  })

  test('of one level is no answer to another', async () => {
    const { validations, register } = world()
    const { domain, registration_id } = await register()
    const made = await validations.put({
      domain,
      registration_id,
      validation_level: 'basic',
      passes_validation: true,
      validation_score: 61,
      validation_results: {},
    })
    expect(await validations.get(domain, 'basic')).toEqual(made)
    expect(await validations.get(domain, 'strict')).toBeUndefined()
  })
})

onServiceStores('a registration', (world) => {
  test('is found by domain, by id, and by the hash of its temporary key', async () => {
    const { registrations, register } = world()
    const registration = await register()
    expect(await registrations.get(registration)).toEqual(registration)
    expect((await registrations.ofDomain(registration.domain)).items).toEqual([registration])
    expect(await registrations.findByTempKey(registration.temp_key)).toEqual(registration)
    expect((await registrations.ofDomain(newDomain())).items).toEqual([])
  })
})
