"""Writes reference.json: what MuJoCo says of the files beside it. python3 -m pip install mujoco==4.0.0; python3 reference.py"""

import json
import pathlib

import mujoco

here = pathlib.Path(__file__).parent
found = {"mujoco": mujoco.__version__}
for name in ["arm", "free", "loop"]:
    model = mujoco.MjModel.from_xml_path(str(here / f"{name}.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    sites = {model.site(i).name: data.site_xpos[i].tolist() for i in range(model.nsite)}
    mass = {model.body(i).name: model.body_mass[i] for i in range(1, model.nbody)}
    entry = {"start": data.qpos.tolist(), "qpos0": model.qpos0.tolist(), "energy": sum(data.energy), "sites": sites, "mass": mass}
    # Constraints of MuJoCo are soft: only trees are followed.
    if not model.neq:
        while data.time < 0.02 - 1e-9:
            mujoco.mj_step(model, data)
        entry["end"] = data.qpos.tolist()
    found[name] = entry
(here / "reference.json").write_text(json.dumps(found, indent=1) + "\n")
