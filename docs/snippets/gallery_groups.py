"""Which pathways add something beyond age?"""

# --8<-- [start:table]
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
genes = pd.DataFrame(rng.standard_normal((400, 160))).add_prefix("gene_")
patients = genes.assign(age=rng.normal(60, 10, 400).round())
pathways = {
    f"pathway {letter}": [f"gene_{8 * i + k}" for k in range(8)]
    for i, letter in enumerate("ABCDEFGHIJKLMNOPQRST")
}
inflamed = genes[pathways["pathway C"]].mean(axis=1)
repair = genes[pathways["pathway M"]].mean(axis=1)
risk = 6 * inflamed + 4 * repair + 0.2 * (patients["age"] - 60)
y = rng.random(400) < 1 / (1 + np.exp(-2 * risk))
# --8<-- [end:table]

# --8<-- [start:fit]
from maskrank import DualNetClassifier

model = DualNetClassifier(3, groups=pathways, required=["age"], random_state=0)
model.fit(patients, y)
print(model.result_)
print(f"age alone explains {model.result_.explained_by_required:.3f} nats,")
print(f"age and the pathways {model.result_.explained:.3f}")
# --8<-- [end:fit]
