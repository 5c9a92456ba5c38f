export async function writeManual() {}
