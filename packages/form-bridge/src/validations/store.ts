/** Cached validations of domains. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { expiresIn, isoNow, isUnexpired, unexpired } from '../time.ts'
import { type Validation, ValidationItem, validationKey, type ValidationLevel } from './item.ts'

export type NewValidation = Pick<
  Validation,
  | 'domain'
  | 'registration_id'
  | 'validation_level'
  | 'passes_validation'
  | 'validation_score'
  | 'validation_results'
>

export type ValidationStore = ReturnType<typeof createValidationStore>

export function createValidationStore({ db, clock }: StoreDeps) {
  const validations = entity(db, formBridgeTable, ValidationItem)
  const { attr } = validations

  return {
    async put(validation: NewValidation): Promise<Validation> {
      const { ttl, iso: valid_until } = expiresIn(clock, TTL_SECONDS.validation)
      const item: Validation = {
        ...validation,
        ...validationKey(validation.domain),
        GSI1PK: `REG#${validation.registration_id}`,
        GSI1SK: 'VALIDATION',
        validated_at: isoNow(clock),
        valid_until,
        ttl,
      }
      await validations.put(item)
      return item
    },

    /** With a level, only a validation of that level. */
    async get(domain: string, level?: ValidationLevel): Promise<Validation | undefined> {
      const found = await validations.get(validationKey(domain)).then(unexpired(clock))
      return level === undefined || found?.validation_level === level ? found : undefined
    },

    /** Reads GSI1: eventually consistent. */
    async findByRegistration(registration_id: string): Promise<Validation | undefined> {
      const { items } = await validations.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`REG#${registration_id}`} AND ${attr('GSI1SK')} = ${'VALIDATION'}`,
      })
      return items.find((item) => isUnexpired(item, clock))
    },
  }
}
