/** The services of this product, in the order in which people see them. */
import { ferryhookService } from '@strongroom/ferryhook/service-definition'
import { formBridgeService } from '@strongroom/form-bridge/service-definition'
import { keyStoreService } from '@strongroom/key-store/service'
import type { Service } from '@strongroom/kit/service'
import { sealedService } from '@strongroom/sealed/service-definition'
import { twoKeyService } from '@strongroom/two-key/service-definition'
import type { Abilities } from './abilities.ts'

export const services: readonly Service<Abilities>[] = [
  sealedService,
  ferryhookService,
  formBridgeService,
  keyStoreService,
  twoKeyService,
]
