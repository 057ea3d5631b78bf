import { expect, test } from 'vitest'
import { onServiceStores } from '../support/on-every-store.ts'
import { newDomain } from '../support/test-stores.ts'

onServiceStores('a validation', (newStores) => {
  test('is found by its domain and by its registration', async () => {
    const { validations, register } = newStores()
    const { domain, registration_id } = await register()
    const validation = await validations.put({
      domain,
      registration_id,
      validation_level: 'basic',
      passes_validation: true,
      validation_score: 61,
      validation_results: {},
    })
    expect(await validations.get(domain)).toEqual(validation)
    expect(await validations.findByRegistration(registration_id)).toEqual(validation)
    expect(await validations.get(newDomain())).toBeUndefined()
  })

  test('of one level is not returned for another', async () => {
    const { validations, register } = newStores()
    const { domain, registration_id } = await register()
    const validation = await validations.put({
      domain,
      registration_id,
      validation_level: 'basic',
      passes_validation: true,
      validation_score: 61,
      validation_results: {},
    })
    expect(await validations.get(domain, 'basic')).toEqual(validation)
    expect(await validations.get(domain, 'strict')).toBeUndefined()
  })
})
