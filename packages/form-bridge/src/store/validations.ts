/** The cache of what the checks of a domain found. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { endingAfter, ifLive, isLive, isoNow } from '../expiry.ts'
import {
  type Validation,
  ValidationItem,
  validationKey,
  type ValidationLevel,
} from '../items/validation.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'

export type NewValidation = Pick<
  Validation,
  | 'domain'
  | 'registration_id'
  | 'validation_level'
  | 'passes_validation'
  | 'validation_score'
  | 'validation_results'
>

export function createValidations({ db, clock }: StoreDeps) {
  const validations = entity(db, formBridgeTable, ValidationItem)
  const { attr } = validations

  return {
    async put(validation: NewValidation): Promise<Validation> {
      const { ttl, iso: valid_until } = endingAfter(clock, lifetimes.validation)
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

    /** With a level, only a result of that level: a strict check is no answer to a basic one. */
    async get(domain: string, level?: ValidationLevel): Promise<Validation | undefined> {
      const found = await validations.get(validationKey(domain)).then(ifLive(clock))
      return level === undefined || found?.validation_level === level ? found : undefined
    },

    /** By the index, so a moment behind. */
    async findByRegistration(registration_id: string): Promise<Validation | undefined> {
      const { items } = await validations.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`REG#${registration_id}`} AND ${attr('GSI1SK')} = ${'VALIDATION'}`,
      })
      return items.find((item) => isLive(item, clock))
    },
  }
}
