import { formBridgeService } from '@strongroom/form-bridge/service'
import { serviceHandler } from '../service-handler.ts'

export const handler = serviceHandler('form-bridge-site', formBridgeService)
